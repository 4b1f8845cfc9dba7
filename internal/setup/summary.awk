# Shortens `go test -v`: a line per package, the whole story of a package that fails, why tests were skipped, and sums in
# the end. Tests and their subtests count alike.

# What a test says follows a line that names it.
/^=== / { test = $3; next }

{ said[++lines] = $0 }

/_test\.go:[0-9]+: / {
    why[test] = $0
    sub(/^.*_test\.go:[0-9]+: /, "", why[test])
}

/^ *--- PASS: / { passed++ }
/^ *--- FAIL: / { failed++ }
/^ *--- SKIP: / {
    skipped++
    reason = why[$3] == "" ? "no reason given" : why[$3]
    if (!(reason in count)) reasons[++kinds] = reason
    count[reason]++
}

/^FAIL\t|^panic: / { bad = 1 }

# The story of a package ends with its verdict.
/^(ok  |\?   |FAIL|---) *\t/ {
    if (/^FAIL/) {
        packages++
        lines--
        story()
    }
    print
    delete why
    lines = 0
}

function story(   i) {
    for (i = 1; i <= lines; i++)
        if (said[i] !~ /^ *--- (PASS|SKIP): |^PASS$|^FAIL$/) print said[i]
}

END {
    story() # of a build that failed
    print ""
    if (skipped) print "skipped:"
    for (i = 1; i <= kinds; i++) printf "%5d  %.100s\n", count[reasons[i]], reasons[i]
    if (count["HLSGEN_SHARED is not set"]) print "HLSGEN_SHARED names a folder of shared models; without it, the cases on them are skipped."
    if (bad || failed) printf "Tests failed in %d packages; their output stands above, each before its line FAIL.\n", packages
    else print "Every test that ran passed."
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
