-- +goose Up

-- The ways of releases to kiosks.
CREATE TABLE rollouts (
    id         TEXT COLLATE "C"    NOT NULL PRIMARY KEY,
    seq        BIGINT NOT NULL UNIQUE, -- order of creation
    version    BIGINT NOT NULL,        -- counts the changes: who has read an older one does not write
    state      TEXT COLLATE "C"    NOT NULL,
    release_id TEXT COLLATE "C"    NOT NULL,
    number     BIGINT NOT NULL,
    back       BIGINT NOT NULL, -- 1: kiosks may go to a lower number
    whole      BIGINT NOT NULL, -- 1: kiosks that come later are in it
    doc        TEXT COLLATE "C"    NOT NULL  -- all of it, JSON
);

-- How far each kiosk is within a rollout.
CREATE TABLE rollout_kiosks (
    rollout    TEXT COLLATE "C"    NOT NULL,
    site       TEXT COLLATE "C"    NOT NULL,
    kiosk_id   TEXT COLLATE "C"    NOT NULL,
    grp        BIGINT NOT NULL, -- index of its group in the plan
    state      TEXT COLLATE "C"    NOT NULL,
    started_at TEXT COLLATE "C"    NOT NULL, -- when it was told, by the hub's clock; empty before
    begun_at   TEXT COLLATE "C"    NOT NULL, -- when it first answered
    ended_at   TEXT COLLATE "C"    NOT NULL,
    said_at    TEXT COLLATE "C"    NOT NULL, -- of the report that counts, by the kiosk's clock
    code       TEXT COLLATE "C"    NOT NULL,
    detail     TEXT COLLATE "C"    NOT NULL,
    late       TEXT COLLATE "C"    NOT NULL, -- what it said after the rollout was stopped
    PRIMARY KEY (rollout, site, kiosk_id)
);
CREATE INDEX rollout_kiosks_kiosk ON rollout_kiosks (site, kiosk_id);
CREATE INDEX rollout_kiosks_state ON rollout_kiosks (rollout, grp, state);

-- +goose Down
DROP TABLE rollout_kiosks;
DROP TABLE rollouts;
