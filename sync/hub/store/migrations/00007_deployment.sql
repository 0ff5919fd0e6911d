-- +goose Up

-- The rollout by which a kiosk was told of the release.
ALTER TABLE deployments ADD COLUMN deployment TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE deployments DROP COLUMN deployment;
