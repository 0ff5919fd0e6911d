-- +goose Up

-- One row for each memory event, in the order in which they became durable here.
CREATE TABLE events (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    site         TEXT    NOT NULL,
    kiosk_id     TEXT    NOT NULL,
    stream_id    TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    event_id     TEXT    NOT NULL,
    type         TEXT    NOT NULL,
    data         TEXT    NOT NULL,
    ts_wall      TEXT    NOT NULL, -- by the kiosk's clock
    ts_mono_ms   INTEGER NOT NULL,
    boot_id      TEXT    NOT NULL,
    clock_synced INTEGER NOT NULL,
    prev_hash    TEXT    NOT NULL,
    hash         TEXT    NOT NULL, -- SHA-256 of the canonical envelope
    received_at  TEXT    NOT NULL, -- by the hub's clock
    UNIQUE (site, kiosk_id, stream_id, seq),
    UNIQUE (site, kiosk_id, event_id)
);

-- One row for each numbering a kiosk has used: everything up to acked_seq is here (or known to be lost).
CREATE TABLE streams (
    site         TEXT    NOT NULL,
    kiosk_id     TEXT    NOT NULL,
    stream_id    TEXT    NOT NULL,
    acked_seq    INTEGER NOT NULL DEFAULT 0,
    max_seq      INTEGER NOT NULL DEFAULT 0, -- highest seen
    chain_broken INTEGER NOT NULL DEFAULT 0, -- lowest seq whose prev_hash does not fit, 0 = none
    last_at      TEXT    NOT NULL,
    PRIMARY KEY (site, kiosk_id, stream_id)
);

-- Numbers that count as received without an event of their own: the kiosk has told that the events are gone from its
-- store, or the event is here already under another number.
CREATE TABLE answered (
    site      TEXT    NOT NULL,
    kiosk_id  TEXT    NOT NULL,
    stream_id TEXT    NOT NULL,
    from_seq  INTEGER NOT NULL,
    to_seq    INTEGER NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('lost', 'duplicate')),
    reason    TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    PRIMARY KEY (site, kiosk_id, stream_id, from_seq, to_seq)
);

-- What was refused: unreadable payloads, and events whose number is taken by another event.
CREATE TABLE quarantine (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    site     TEXT    NOT NULL,
    kiosk_id TEXT    NOT NULL,
    hash     TEXT    NOT NULL, -- SHA-256 of the payload
    reason   TEXT    NOT NULL,
    payload  BLOB    NOT NULL,
    times    INTEGER NOT NULL DEFAULT 1,
    first_at TEXT    NOT NULL,
    last_at  TEXT    NOT NULL,
    UNIQUE (site, kiosk_id, hash)
);

-- What each kiosk last said of itself.
CREATE TABLE kiosks (
    site         TEXT    NOT NULL,
    kiosk_id     TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    session_seq  INTEGER NOT NULL,
    boot_id      TEXT    NOT NULL,
    version      TEXT    NOT NULL DEFAULT '',
    outbox_depth INTEGER NOT NULL DEFAULT 0,
    free_bytes   INTEGER NOT NULL DEFAULT 0,
    degraded     TEXT    NOT NULL DEFAULT '',
    state_at     TEXT    NOT NULL, -- since when, by the hub's clock
    PRIMARY KEY (site, kiosk_id)
);

-- +goose Down
DROP TABLE kiosks;
DROP TABLE quarantine;
DROP TABLE answered;
DROP TABLE streams;
DROP TABLE events;
