-- +goose Up

-- What kiosks were asked to do, and their answers.
CREATE TABLE commands (
    id         TEXT NOT NULL PRIMARY KEY, -- UUIDv7
    site       TEXT NOT NULL,
    kiosk_id   TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      INTEGER NOT NULL,
    issued_at  TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    status     TEXT NOT NULL DEFAULT '', -- of the result; empty until there is one
    detail     TEXT NOT NULL DEFAULT '',
    at         TEXT NOT NULL DEFAULT '', -- of the result, by the hub's clock
    type       TEXT NOT NULL DEFAULT '',
    data       BLOB
);
CREATE INDEX commands_kiosk ON commands (site, kiosk_id, status);

-- The whole of what a kiosk last said of itself, as JSON, and when.
ALTER TABLE kiosks ADD COLUMN report TEXT NOT NULL DEFAULT '';
ALTER TABLE kiosks ADD COLUMN report_at TEXT NOT NULL DEFAULT '';
ALTER TABLE kiosks ADD COLUMN reported_ts TEXT NOT NULL DEFAULT ''; -- by the kiosk's clock

-- +goose Down
ALTER TABLE kiosks DROP COLUMN reported_ts;
ALTER TABLE kiosks DROP COLUMN report_at;
ALTER TABLE kiosks DROP COLUMN report;
DROP TABLE commands;
