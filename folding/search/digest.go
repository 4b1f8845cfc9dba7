package search

import "math/bits"

// Whether one list of amounts is nowhere more than another is asked so often that digests answer first: the leading
// bits of all amounts side by side in one number, a bit that is 0 above each. One digest less another, of which these
// bits are set, leaves all of them set where no amount's leading bits are less. For example, (3, 12) is not within
// (5, 9):
//
//	  1 0101 1 1001    (5, 9), with the bits above set
//	- 0 0011 0 1100    (3, 12)
//	= 1 0010 0 1101    12 is more than 9

// A digester makes digests of lists of so many amounts.
type digester struct {
	width int     // bits of an amount's part, with the one above
	above uint64  // these bits
	least []int64 // per amount: none is less
	shift []int   // per amount: bits that are left out
}

func newDigester(amounts int) (d digester) {
	d.least, d.shift = make([]int64, amounts), make([]int, amounts)
	if amounts > 0 {
		d.width = 64 / amounts
	}
	for k := range amounts {
		d.above |= 1 << ((k+1)*d.width - 1)
	}
	return d
}

// span says that amount k of all lists lies between two numbers.
func (d *digester) span(k int, least, most int64) {
	d.least[k] = least
	d.shift[k] = max(0, bits.Len64(uint64(max(0, most-least)))-(d.width-1))
}

// of is the digest of a list, whose amounts count from the least on.
func (d *digester) of(list []int64) (digest uint64) {
	place, least, shift := 0, d.least[:len(list)], d.shift[:len(list)]
	for k, amount := range list {
		digest |= uint64(max(0, amount-least[k])) >> (shift[k] & 63) << (place & 63)
		place += d.width
	}
	return digest
}

// next is the first of some digests, from one on, whose list may be nowhere more than the list of another digest: all
// others surely are somewhere. It is -1 where there is none.
func (d *digester) next(digests []uint64, from int, other uint64) int {
	above := d.above
	other |= above
	i := from
	for ; i+4 <= len(digests); i += 4 { // four at a time: there are many, and few that may
		f := digests[i : i+4 : i+4]
		if (other-f[0])&above == above || (other-f[1])&above == above || (other-f[2])&above == above ||
			(other-f[3])&above == above {
			break
		}
	}
	for ; i < len(digests); i++ {
		if (other-digests[i])&above == above {
			return i
		}
	}
	return -1
}
