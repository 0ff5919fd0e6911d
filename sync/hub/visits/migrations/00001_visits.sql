-- +goose Up

-- Visits that have a pass.
CREATE TABLE passes (
    site    TEXT    NOT NULL,
    visit   TEXT    NOT NULL, -- its one-way name
    expires INTEGER NOT NULL, -- unix ms
    PRIMARY KEY (site, visit)
);
CREATE INDEX passes_expires ON passes (expires);

-- What each kiosk last carried of a visit, sealed; without a box where another kiosk's covers it.
CREATE TABLE carried (
    site   TEXT    NOT NULL,
    visit  TEXT    NOT NULL,
    kiosk  TEXT    NOT NULL,
    number INTEGER NOT NULL,
    box    BLOB,
    PRIMARY KEY (site, visit, kiosk)
);

-- Passes under short codes, sealed with what the code gives.
CREATE TABLE codes (
    site    TEXT    NOT NULL,
    code    TEXT    NOT NULL,
    visit   TEXT    NOT NULL,
    box     BLOB    NOT NULL,
    expires INTEGER NOT NULL, -- unix ms
    uses    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, code)
);
CREATE INDEX codes_visit ON codes (site, visit);

-- Visits that are forgotten, and the kiosks that had them.
CREATE TABLE forgotten (
    site  TEXT    NOT NULL,
    visit TEXT    NOT NULL,
    until INTEGER NOT NULL, -- unix ms; then nothing can come late any more
    PRIMARY KEY (site, visit)
);
CREATE TABLE holders (
    site  TEXT NOT NULL,
    visit TEXT NOT NULL,
    kiosk TEXT NOT NULL,
    PRIMARY KEY (site, visit, kiosk)
);
CREATE INDEX holders_kiosk ON holders (site, kiosk);

-- +goose Down
DROP TABLE holders;
DROP TABLE forgotten;
DROP TABLE codes;
DROP TABLE carried;
DROP TABLE passes;
