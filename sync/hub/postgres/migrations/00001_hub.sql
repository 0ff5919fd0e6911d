-- +goose Up

-- The same tables as in SQLite; what they mean is said there, in sync/hub/store/migrations and sync/hub/visits/migrations.
-- Texts are compared by their bytes, as there. Numbers of arrival are given out by the hub, one transaction after the other.
-- A migration that may take longer than a minute begins with SET LOCAL statement_timeout = 0.

CREATE TABLE events (
    id           BIGINT           NOT NULL PRIMARY KEY,
    site         TEXT COLLATE "C" NOT NULL,
    kiosk_id     TEXT COLLATE "C" NOT NULL,
    stream_id    TEXT COLLATE "C" NOT NULL,
    seq          BIGINT           NOT NULL,
    event_id     TEXT COLLATE "C" NOT NULL,
    type         TEXT COLLATE "C" NOT NULL,
    data         TEXT COLLATE "C" NOT NULL,
    ts_wall      TEXT COLLATE "C" NOT NULL,
    ts_mono_ms   BIGINT           NOT NULL,
    boot_id      TEXT COLLATE "C" NOT NULL,
    clock_synced BOOLEAN          NOT NULL,
    prev_hash    TEXT COLLATE "C" NOT NULL,
    hash         TEXT COLLATE "C" NOT NULL,
    received_at  TEXT COLLATE "C" NOT NULL,
    visit        TEXT COLLATE "C" NOT NULL DEFAULT '', -- whose words these are; empty: none
    -- The column that tells most first: without statistics the planner takes indexes with the same beginning for equals.
    UNIQUE (stream_id, kiosk_id, site, seq),
    UNIQUE (event_id, kiosk_id, site)
);
CREATE INDEX events_words ON events (site, visit) WHERE visit <> '';

CREATE TABLE streams (
    site         TEXT COLLATE "C" NOT NULL,
    kiosk_id     TEXT COLLATE "C" NOT NULL,
    stream_id    TEXT COLLATE "C" NOT NULL,
    acked_seq    BIGINT           NOT NULL DEFAULT 0,
    max_seq      BIGINT           NOT NULL DEFAULT 0,
    chain_broken BIGINT           NOT NULL DEFAULT 0,
    last_at      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, kiosk_id, stream_id)
) WITH (fillfactor = 70); -- written again with each batch

CREATE TABLE answered (
    site      TEXT COLLATE "C" NOT NULL,
    kiosk_id  TEXT COLLATE "C" NOT NULL,
    stream_id TEXT COLLATE "C" NOT NULL,
    from_seq  BIGINT           NOT NULL,
    to_seq    BIGINT           NOT NULL,
    kind      TEXT COLLATE "C" NOT NULL CHECK (kind IN ('lost', 'duplicate')),
    reason    TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, kiosk_id, stream_id, from_seq, to_seq)
);

CREATE TABLE quarantine (
    id       BIGINT           NOT NULL PRIMARY KEY,
    site     TEXT COLLATE "C" NOT NULL,
    kiosk_id TEXT COLLATE "C" NOT NULL,
    hash     TEXT COLLATE "C" NOT NULL,
    reason   TEXT COLLATE "C" NOT NULL,
    payload  BYTEA            NOT NULL,
    times    BIGINT           NOT NULL DEFAULT 1,
    first_at TEXT COLLATE "C" NOT NULL,
    last_at  TEXT COLLATE "C" NOT NULL,
    UNIQUE (site, kiosk_id, hash)
);

CREATE TABLE kiosks (
    site         TEXT COLLATE "C" NOT NULL,
    kiosk_id     TEXT COLLATE "C" NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    session_seq  BIGINT           NOT NULL,
    boot_id      TEXT COLLATE "C" NOT NULL,
    version      TEXT COLLATE "C" NOT NULL DEFAULT '',
    outbox_depth BIGINT           NOT NULL DEFAULT 0,
    free_bytes   BIGINT           NOT NULL DEFAULT 0,
    degraded     TEXT COLLATE "C" NOT NULL DEFAULT '',
    state_at     TEXT COLLATE "C" NOT NULL,
    report       TEXT COLLATE "C" NOT NULL DEFAULT '',
    report_at    TEXT COLLATE "C" NOT NULL DEFAULT '',
    reported_ts  TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (site, kiosk_id)
) WITH (fillfactor = 70);

CREATE TABLE deployments (
    site        TEXT COLLATE "C" NOT NULL,
    kiosk_id    TEXT COLLATE "C" NOT NULL,
    shown       TEXT COLLATE "C" NOT NULL,
    release_id  TEXT COLLATE "C" NOT NULL,
    number      BIGINT           NOT NULL,
    status      TEXT COLLATE "C" NOT NULL,
    done        BIGINT           NOT NULL,
    total       BIGINT           NOT NULL,
    code        TEXT COLLATE "C" NOT NULL,
    detail      TEXT COLLATE "C" NOT NULL,
    rolled_back BOOLEAN          NOT NULL,
    resumed     BOOLEAN          NOT NULL,
    at          TEXT COLLATE "C" NOT NULL,
    deployment  TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (site, kiosk_id)
) WITH (fillfactor = 70);

CREATE TABLE enrolments (
    id_hash     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    code        TEXT COLLATE "C" NOT NULL UNIQUE,
    site        TEXT COLLATE "C" NOT NULL,
    kiosk_id    TEXT COLLATE "C" NOT NULL,
    csr         BYTEA            NOT NULL,
    remote      TEXT COLLATE "C" NOT NULL,
    asked_at    TEXT COLLATE "C" NOT NULL,
    expires_at  TEXT COLLATE "C" NOT NULL,
    status      TEXT COLLATE "C" NOT NULL CHECK (status IN ('waiting', 'granted', 'refused')),
    certificate BYTEA
);

CREATE TABLE certificates (
    serial     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    site       TEXT COLLATE "C" NOT NULL,
    kiosk_id   TEXT COLLATE "C" NOT NULL,
    not_before TEXT COLLATE "C" NOT NULL,
    not_after  TEXT COLLATE "C" NOT NULL,
    revoked_at TEXT COLLATE "C" NOT NULL DEFAULT '',
    reason     TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX certificates_kiosk ON certificates (site, kiosk_id);

CREATE TABLE revocations (
    site     TEXT COLLATE "C" NOT NULL,
    kiosk_id TEXT COLLATE "C" NOT NULL,
    at       TEXT COLLATE "C" NOT NULL,
    reason   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, kiosk_id)
);

CREATE TABLE commands (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    site       TEXT COLLATE "C" NOT NULL,
    kiosk_id   TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    value      BIGINT           NOT NULL,
    issued_at  TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL,
    status     TEXT COLLATE "C" NOT NULL DEFAULT '',
    detail     TEXT COLLATE "C" NOT NULL DEFAULT '',
    at         TEXT COLLATE "C" NOT NULL DEFAULT '',
    type       TEXT COLLATE "C" NOT NULL DEFAULT '',
    data       BYTEA
);
CREATE INDEX commands_kiosk ON commands (site, kiosk_id, status);

CREATE TABLE passes (
    site    TEXT COLLATE "C" NOT NULL,
    visit   TEXT COLLATE "C" NOT NULL,
    expires BIGINT           NOT NULL,
    PRIMARY KEY (site, visit)
);
CREATE INDEX passes_expires ON passes (expires);

CREATE TABLE carried (
    site   TEXT COLLATE "C" NOT NULL,
    visit  TEXT COLLATE "C" NOT NULL,
    kiosk  TEXT COLLATE "C" NOT NULL,
    number BIGINT           NOT NULL,
    box    BYTEA,
    PRIMARY KEY (site, visit, kiosk)
);

CREATE TABLE codes (
    site    TEXT COLLATE "C" NOT NULL,
    code    TEXT COLLATE "C" NOT NULL,
    visit   TEXT COLLATE "C" NOT NULL,
    box     BYTEA            NOT NULL,
    expires BIGINT           NOT NULL,
    uses    BIGINT           NOT NULL DEFAULT 0,
    PRIMARY KEY (site, code)
);
CREATE INDEX codes_visit ON codes (site, visit);

CREATE TABLE forgotten (
    site  TEXT COLLATE "C" NOT NULL,
    visit TEXT COLLATE "C" NOT NULL,
    until BIGINT           NOT NULL,
    PRIMARY KEY (site, visit)
);
CREATE INDEX forgotten_until ON forgotten (until);

CREATE TABLE holders (
    site  TEXT COLLATE "C" NOT NULL,
    visit TEXT COLLATE "C" NOT NULL,
    kiosk TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, visit, kiosk)
);
CREATE INDEX holders_kiosk ON holders (site, kiosk);

-- What lies in files where the hub is one process: objects of releases, signed metadata, the emergency message. And, of
-- the keys that each process has as a file, the public halves, so that one with another key is noticed.
CREATE TABLE objects (
    sum  TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- SHA-256, hex
    data BYTEA            NOT NULL
);
ALTER TABLE objects ALTER COLUMN data SET STORAGE EXTERNAL; -- a block of it is read without the rest

CREATE TABLE documents (
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('metadata', 'emergency', 'key')),
    name TEXT COLLATE "C" NOT NULL,
    data BYTEA            NOT NULL,
    PRIMARY KEY (kind, name)
);

-- +goose Down
DROP TABLE documents, objects, holders, forgotten, codes, carried, passes, commands, revocations, certificates, enrolments,
    deployments, kiosks, quarantine, answered, streams, events;
