package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/outputdir"
)

// referenceCommand returns the hidden command that writes the man pages, and the same pages in Markdown. Packagers use
// it.
func (a *app) referenceCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "reference DIR",
		Short:  "Write the man pages, and the reference in Markdown, to a folder",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.running = true
			made, err := outputdir.MakeTemporaryFolder("hlsgen-reference-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(made)
			root := cmd.Root()
			root.DisableAutoGenTag = true // the tag has a date
			date := committed()
			header := &doc.GenManHeader{Date: &date, Source: "hlsgen " + version(), Manual: "hlsgen"}
			for _, c := range root.Commands() {
				showValues(c.Flags())
			}
			if err := doc.GenMarkdownTree(root, made); err != nil {
				return err
			}
			for _, c := range root.Commands() {
				c.Flags().VisitAll(func(f *pflag.Flag) {
					if f.Annotations[bareValue] != nil {
						f.DefValue = f.NoOptDefVal // man pages show it as the value of the bare flag
					}
				})
			}
			if err := doc.GenManTree(root, header, made); err != nil {
				return err
			}
			var d diag.List
			err = folder.WriteToSharedFolder(under(a.dir, args[0]), &d, func(dir *outputdir.SharedFolder) error {
				return copyPages(made, dir)
			})
			if err != nil || d.HasErrors() {
				return a.without(false, &d, err)
			}
			return nil
		},
	}
}

// copyPages copies the files of a folder into another folder.
func copyPages(from string, to *outputdir.SharedFolder) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = to.WriteOwnFile(e.Name(), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// committed returns the date of the source's last commit, so that the same source gives the same pages. It returns the
// first day of 1970 if the date is unknown.
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
