package diag

import "strings"

// Nearest is the known word that takes the fewest letters inserted, deleted or replaced to get from word, if these are
// at most a third of its letters, or at most two; else it is empty. Capitals count little: a word that differs in
// nothing else is always near.
func Nearest(word string, known []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, k := range known {
		if strings.EqualFold(word, k) {
			return k
		}
		if d := distance(word, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := corner
			if a[i] != b[j] {
				replace++
			}
			corner = row[j+1]
			row[j+1] = min(replace, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}

// Meant is the end of a message about an unknown word.
func Meant(word string, known []string) string {
	if n := Nearest(word, known); n != "" {
		return ", did you mean " + n + "?"
	}
	return ""
}
