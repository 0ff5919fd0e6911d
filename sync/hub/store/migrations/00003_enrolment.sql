-- +goose Up

-- Kiosks that have asked for a certificate.
CREATE TABLE enrolments (
    id_hash     TEXT NOT NULL PRIMARY KEY, -- SHA-256 of the request's secret id
    code        TEXT NOT NULL UNIQUE,      -- what the kiosk shows
    site        TEXT NOT NULL,
    kiosk_id    TEXT NOT NULL,
    csr         BLOB NOT NULL,
    remote      TEXT NOT NULL,             -- address it asked from
    asked_at    TEXT NOT NULL,
    expires_at  TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('waiting', 'granted', 'refused')),
    certificate BLOB                       -- once granted
);

-- Certificates of kiosks. One that the authority has signed and that is not here was signed after the backup that this
-- store was restored from; it is written here when it is first seen.
CREATE TABLE certificates (
    serial     TEXT NOT NULL PRIMARY KEY, -- hex
    site       TEXT NOT NULL,
    kiosk_id   TEXT NOT NULL,
    not_before TEXT NOT NULL,
    not_after  TEXT NOT NULL,
    revoked_at TEXT NOT NULL DEFAULT '',
    reason     TEXT NOT NULL DEFAULT ''   -- revoked, replaced
);
CREATE INDEX certificates_kiosk ON certificates (site, kiosk_id);

-- What was revoked by name: it counts for certificates too that are not in the table above.
CREATE TABLE revocations (
    site     TEXT NOT NULL,
    kiosk_id TEXT NOT NULL,
    at       TEXT NOT NULL, -- certificates that began before
    reason   TEXT NOT NULL,
    PRIMARY KEY (site, kiosk_id)
);

-- +goose Down
DROP TABLE revocations;
DROP TABLE certificates;
DROP TABLE enrolments;
