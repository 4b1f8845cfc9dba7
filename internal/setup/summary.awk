# Shortens `go test -v`: a line per package, the whole story of a package that fails, every test that was skipped, by
# reason, the slowest tests, and sums in the end. Tests and their subtests count alike.

# What a test says follows a line that names it.
/^=== / { test = $3; next }

{ said[++lines] = $0 }

/^ +[A-Za-z0-9_]+\.go:[0-9]+: / {
    why[test] = $0
    sub(/^ +[A-Za-z0-9_]+\.go:[0-9]+: /, "", why[test])
}

/^ *--- PASS: / { passed++ }
/^ *--- FAIL: / { failed++ }
/^ *--- SKIP: / { left[++skips] = $3 }

/^--- (PASS|FAIL): / {
    seconds = $4
    gsub(/[()s]/, "", seconds)
    if (seconds >= 1) slow[++tested] = sprintf("%8.1f  %s", seconds, $3)
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
    fflush() # a run takes minutes
    split($0, verdict, "\t")
    file(verdict[2])
    place(verdict[2])
    delete why
    lines = 0
}

function story(   i) {
    for (i = 1; i <= lines; i++)
        if (said[i] !~ /^ *--- (PASS|SKIP): |^PASS$|^FAIL$/) print said[i]
}

# file puts the tests that a package skipped under their reasons.
function file(package,   i, reason) {
    sub(/^[^\/]*\//, "", package)
    for (i = 1; i <= skips; i++) {
        reason = why[left[i]] == "" ? "no reason given" : why[left[i]]
        if (!(reason in count)) reasons[++kinds] = reason
        count[reason]++
        append(reason, package, left[i])
        skipped++
    }
    skips = 0
}

# place says of a package's slow tests where they are, and puts them among the slowest.
function place(package,   i, k) {
    sub(/^[^\/]*\//, "", package)
    for (i = 1; i <= tested; i++) {
        for (k = shown < 10 ? ++shown : 11; k > 1 && slowest[k - 1] + 0 < slow[i] + 0; k--) slowest[k] = slowest[k - 1]
        slowest[k] = slow[i] " of " package
    }
    tested = 0
}

# append adds a test to what is printed under a reason: a line per package, or more where it gets longer than 120.
function append(reason, package, name) {
    if (package != last[reason]) {
        tests[reason] = tests[reason] sprintf("\n       %s:", package)
        last[reason] = package
        width[reason] = length(package) + 8
    } else if (width[reason] + length(name) + 2 > 120) {
        tests[reason] = tests[reason] "\n        "
        width[reason] = 8
    }
    tests[reason] = tests[reason] " " name
    width[reason] += length(name) + 1
}

END {
    story() # of a build that failed
    print ""
    if (skipped) print "skipped:"
    for (i = 1; i <= kinds; i++) printf "%5d  %.112s%s\n", count[reasons[i]], reasons[i], tests[reasons[i]]
    if (shown) print "slowest tests, in seconds:"
    for (i = 1; i <= shown; i++) print slowest[i]
    if (!bad && !failed) print "Every test that ran passed."
    else if (packages == 1) print "Tests failed in 1 package; its output stands above, before its line FAIL."
    else print "Tests failed in " packages " packages; their output stands above, each before its line FAIL."
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
