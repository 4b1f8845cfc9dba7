package main

// nearest is the known word that takes the fewest letters inserted, deleted or replaced to get from word, if these are
// at most a third of its letters, or at most two; else it is empty.
func nearest(word string, known []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, k := range known {
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

// meant is the end of a message about an unknown word.
func meant(word string, known []string) string {
	if n := nearest(word, known); n != "" {
		return ", did you mean " + n + "?"
	}
	return ""
}
