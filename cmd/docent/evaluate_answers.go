package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"docent/agent"
	"docent/agent/evaluate"
	"docent/agent/library"
	"docent/agent/model"
	"docent/localindex"
)

type evaluateAnswersCmd struct {
	Gallery string `required:"" type:"existingdir" help:"Authoring folder of the gallery, or a release made from it."`
	Cases   string `required:"" type:"existingfile" help:"YAML file of questions, and of what their answers must be like."`
	// JudgeURL and JudgeModel name a model that judges the answers too.
	JudgeURL   string `name:"judge-url" env:"DOCENT_JUDGE_BASE_URL" help:"OpenAI-compatible server with a model that judges the answers too, such as http://127.0.0.1:11434/v1. Its key, if it wants one, is in DOCENT_JUDGE_KEY." placeholder:"URL"`
	JudgeModel string `name:"judge-model" env:"DOCENT_JUDGE_NAME" help:"The judge's name on that server." placeholder:"NAME"`
	JSON       string `name:"json" help:"Write the report to this file, - for standard output." placeholder:"FILE"`
}

func (c evaluateAnswersCmd) Run(ctx context.Context, t *terminal) (err error) {
	data, err := os.ReadFile(c.Cases)
	if err != nil {
		return fmt.Errorf("read the cases: %w", err)
	}
	cases, err := evaluate.Parse(data)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", c.Cases, err)}
	}
	release, closeRelease, err := releaseOf(ctx, c.Gallery)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRelease()) }()
	judge, err := c.judge()
	if err != nil {
		return usageError{err}
	}
	clock := time.Now
	if !cases.Now.IsZero() {
		clock = func() time.Time { return cases.Now }
	}
	bar := newProgress(t.err, "Asking")
	report, err := evaluate.Run(ctx, agent.New(agent.Options{Clock: clock, Logger: t.log}), library.Of(release), cases, judge, bar.set)
	bar.end()
	if err != nil {
		return err
	}
	return t.summary(c.JSON, report)
}

// judge is the model that judges; nil where none is named.
func (c evaluateAnswersCmd) judge() (evaluate.Writer, error) {
	if c.JudgeURL == "" {
		return nil, nil
	}
	client, err := model.New(model.Options{BaseURL: c.JudgeURL, APIKey: os.Getenv("DOCENT_JUDGE_KEY"), Model: c.JudgeModel})
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	return completer{client}, nil
}

// releaseOf opens a release, or makes one of an authoring folder for the time it is needed. It has no index for
// recognition, which answers do not need.
func releaseOf(ctx context.Context, dir string) (_ *localindex.Release, closeIt func() error, err error) {
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
		r, err := localindex.Open(ctx, dir)
		if err != nil {
			return nil, nil, err
		}
		return r, r.Close, nil
	}
	temporary, err := os.MkdirTemp("", "docent-evaluate-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the release: %w", err)
	}
	remove := func() error { return os.RemoveAll(temporary) }
	made := filepath.Join(temporary, "release")
	if _, problems, err := localindex.Build(ctx, dir, made, localindex.Options{Number: 1}); err != nil {
		for _, p := range problems {
			err = errors.Join(err, fmt.Errorf("%s:%d: %s", p.File, p.Line, p.Message))
		}
		return nil, nil, errors.Join(usageError{err}, remove())
	}
	r, err := localindex.Open(ctx, made)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return r, func() error { return errors.Join(r.Close(), remove()) }, nil
}
