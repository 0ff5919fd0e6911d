-- +goose Up

-- Finds the words of a visit that is to be forgotten.
CREATE INDEX events_words ON events (site, json_extract(data, '$.visit')) WHERE type IN ('question.answered', 'question.unanswered');

-- +goose Down
DROP INDEX events_words;
