package main

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// referenceCommand is for those who package hlsgen: the man pages, and the same pages in Markdown.
func (a *app) referenceCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "reference DIR",
		Short:  "Write the man pages, and the reference in Markdown, to a folder",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.running = true
			dir := under(a.dir, args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // it has a date
			date := committed()
			header := &doc.GenManHeader{Date: &date, Source: "hlsgen " + version(), Manual: "hlsgen"}
			if err := doc.GenManTree(root, header, dir); err != nil {
				return err
			}
			return doc.GenMarkdownTree(root, dir)
		},
	}
}

// committed is the date of the source: the same source gives the same pages.
func committed() time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key != "vcs.time" {
				continue
			}
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				return t
			}
		}
	}
	return time.Unix(0, 0).UTC()
}
