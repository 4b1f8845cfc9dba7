package main

import (
	"context"

	"github.com/spf13/cobra"

	"hlsgen/internal/options"
)

// reportCommand returns the command report.
func reportCommand(a *app) *cobra.Command {
	var o options.Source
	var order pageOrder
	var serve bool
	var model string
	t := a.task(&cobra.Command{
		Use:   "report DIR [DIR2]",
		Short: "Write the page of a build or a sweep again, or of two builds side by side",
		Long: `Report writes a page for a browser: one HTML file, which needs no network. The
folders stay as they are. What is in DIR says which page it is:

  a build   the page of the build, as this version of hlsgen draws it
  a sweep   every point: pictures with the budgets, and a table; each point
            leads to its design
  and DIR2  two builds side by side, what differs first; layers are matched by
            the ONNX nodes that they compute

With --serve, hlsgen shows the page of a build to a browser on this machine. The
page can then have the design built again, for another board or rate or with
another folding, and compare both. That needs the model: the folder has it after
build --with-model, or --built-from says where it is. Nothing is written to DIR.`,
		Example: `  hlsgen report net-zcu104                     # net-zcu104.html
  hlsgen report net-zcu104 net-pynq-z1 --out both.html
  hlsgen report hlsgen-out/net-sweep
  hlsgen report net-zcu104 --serve --built-from net.onnx`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return usagef("want a folder that hlsgen build or sweep has written, or two of build")
			}
			return nil
		},
	}, parts{Source: &o})
	t.path(&order.out, "out", "FILE", "file to write (default DIR.html or DIR-DIR2.html)", nil)
	t.BoolVar(&order.force, "force", false, "replace the file")
	t.BoolVar(&serve, "serve", false, "show the page to a browser on this machine, and build again what it asks for")
	t.path(&model, "built-from", "FILE", "with --serve: the model that was built, if the folder does not have it", nil)
	t.json()
	return t.does(func(ctx context.Context) (*answer, error) {
		order.dirs = t.cmd.Flags().Args()
		switch {
		case model != "" && !serve:
			return nil, usagef("--built-from is for --serve: a page is made without the model")
		case serve && (order.out != "" || order.force || t.asJSON):
			return nil, usagef("--serve writes no file and ends with Ctrl-C: it excludes --out, --force and --json")
		case serve && len(order.dirs) != 1:
			return nil, usagef("--serve wants one folder: its page shows what was built again beside it")
		case serve:
			return order.serve(ctx, t, model)
		}
		return order.write(t)
	})
}
