-- +goose Up

-- What each kiosk last said about its content.
CREATE TABLE deployments (
    site        TEXT    NOT NULL,
    kiosk_id    TEXT    NOT NULL,
    shown       TEXT    NOT NULL, -- id of the release that visitors see
    release_id  TEXT    NOT NULL, -- id of the release that was last brought
    number      INTEGER NOT NULL,
    status      TEXT    NOT NULL,
    done        INTEGER NOT NULL, -- bytes
    total       INTEGER NOT NULL, -- bytes
    code        TEXT    NOT NULL,
    detail      TEXT    NOT NULL,
    rolled_back INTEGER NOT NULL,
    resumed     INTEGER NOT NULL,
    at          TEXT    NOT NULL, -- by the hub's clock
    PRIMARY KEY (site, kiosk_id)
);

-- +goose Down
DROP TABLE deployments;
