-- +goose Up

-- The ways of releases to kiosks.
CREATE TABLE rollouts (
    id         TEXT    NOT NULL PRIMARY KEY,
    seq        INTEGER NOT NULL UNIQUE, -- order of creation
    version    INTEGER NOT NULL,        -- counts the changes: who has read an older one does not write
    state      TEXT    NOT NULL,
    release_id TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    back       INTEGER NOT NULL, -- 1: kiosks may go to a lower number
    whole      INTEGER NOT NULL, -- 1: kiosks that come later are in it
    doc        TEXT    NOT NULL  -- all of it, JSON
);

-- How far each kiosk is within a rollout.
CREATE TABLE rollout_kiosks (
    rollout    TEXT    NOT NULL,
    site       TEXT    NOT NULL,
    kiosk_id   TEXT    NOT NULL,
    grp        INTEGER NOT NULL, -- index of its group in the plan
    state      TEXT    NOT NULL,
    started_at TEXT    NOT NULL, -- when it was told, by the hub's clock; empty before
    begun_at   TEXT    NOT NULL, -- when it first answered
    ended_at   TEXT    NOT NULL,
    said_at    TEXT    NOT NULL, -- of the report that counts, by the kiosk's clock
    code       TEXT    NOT NULL,
    detail     TEXT    NOT NULL,
    late       TEXT    NOT NULL, -- what it said after the rollout was stopped
    PRIMARY KEY (rollout, site, kiosk_id)
);
CREATE INDEX rollout_kiosks_kiosk ON rollout_kiosks (site, kiosk_id);
CREATE INDEX rollout_kiosks_state ON rollout_kiosks (rollout, grp, state);

-- +goose Down
DROP TABLE rollout_kiosks;
DROP TABLE rollouts;
