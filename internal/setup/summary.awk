# Shortens `go test -v`: a line per package, the whole story of a package that fails, and sums in the end. Tests and
# their subtests count alike.

/^=== (RUN|PAUSE|CONT)/ { next }

# What a test says comes before its verdict; of a skipped one we look for the reason.
{ said[++lines] = $0 }

/^ *--- PASS: / { passed++ }
/^ *--- FAIL: / { failed++ }
/^ *--- SKIP: / {
    skipped++
    for (i = lines; i > 0 && i > lines - 4; i--)
        if (said[i] ~ /HLSGEN_SHARED/) { shared++; break }
}

/^FAIL\t|^panic: / { bad = 1 }

/^(ok  |\?   |FAIL|---) *\t/ {
    if (/^FAIL/) {
        packages++
        for (i = 1; i < lines; i++) if (said[i] !~ /^ *--- (PASS|SKIP): |^=== NAME|^PASS$|^FAIL$/) print said[i]
    }
    print
    lines = 0
}

END {
    for (i = 1; i <= lines; i++) if (said[i] !~ /^ *--- (PASS|SKIP): |^=== NAME|^PASS$|^FAIL$/) print said[i] # a build that failed
    print ""
    if (shared) printf "skipped for want of shared models (HLSGEN_SHARED is not set): %d\n", shared
    if (skipped > shared) printf "skipped for other reasons (go test -v says which): %d\n", skipped - shared
    if (bad || failed) printf "Tests failed in %d packages; their output stands above, each before its line FAIL.\n", packages
    else print "Every test that ran passed."
    printf "%d passed, %d failed\n", passed, failed
}
