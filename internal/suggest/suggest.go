// Package suggest finds the known word that an unknown word may stand for.
//
// In come a word and the ones that are known; out comes one of these, or none.
package suggest

import (
	"slices"
	"strings"
)

// NearestWord returns the known word closest to word, counting inserted, deleted, replaced and swapped letters; among
// equals, the first. It allows edits for a third of the letters of word, or two if that is more, but fewer than the
// known word has letters. If no word is close enough, it returns the only known word that begins with word, or "". A
// word that differs only in capitals is always close.
func NearestWord(word string, known []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, k := range known {
		if strings.EqualFold(word, k) {
			return k
		}
		if d := distance(word, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best != "" || word == "" {
		return best
	}
	for _, k := range known {
		switch {
		case !strings.HasPrefix(k, word):
		case best != "":
			return ""
		default:
			best = k
		}
	}
	return best
}

// NearestWords returns up to most known words that word may stand for, by the rules of NearestWord, the closest first.
// It does not change known.
func NearestWords(word string, known []string, most int) (near []string) {
	left := slices.Clone(known)
	for len(near) < most {
		n := NearestWord(word, left)
		if n == "" {
			break
		}
		near = append(near, n)
		left = slices.DeleteFunc(left, func(k string) bool { return k == n })
	}
	return near
}

// distance returns the number of edits that turn a into b: inserting, deleting or replacing a byte, or swapping two
// adjacent bytes. No place is edited twice (optimal string alignment). A swap counts once because it is a common
// typing error: zcu140 means zcu104, not zcu102.
func distance(a, b string) int {
	above, row := make([]int, len(b)+1), make([]int, len(b)+1) // for a less its last two bytes, and its last
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, above[j-1]+1)
			}
			next[j+1] = d
		}
		above, row = row, next
	}
	return row[len(b)]
}

// DidYouMeanSuffix returns the end of a message about an unknown word, ", did you mean X?" with X from NearestWord. It
// returns "" if NearestWord finds none.
func DidYouMeanSuffix(word string, known []string) string {
	if n := NearestWord(word, known); n != "" {
		return ", did you mean " + n + "?"
	}
	return ""
}
