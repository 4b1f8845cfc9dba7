package search

import "math/bits"

// A search asks very often whether each amount of one list is at most that of another. Digests answer first: the
// leading bits of all amounts side by side in one number, with a 0 bit above each. To compare, set those bits in one
// digest and subtract the other digest. If all the bits stay set, no amount's leading bits are smaller. For example,
// (3, 12) is not within (5, 9):
//
//	  1 0101 1 1001    (5, 9), with the bits above set
//	- 0 0011 0 1100    (3, 12)
//	= 1 0010 0 1101    12 is more than 9

// A digester makes digests of lists of amounts, all of one length. Digests quickly rule out that a list is at most
// another one in every amount.
type digester struct {
	width int     // bits per amount, including the bit above
	above uint64  // the bits above the amounts
	least []int64 // per amount: the least that occurs
	shift []int   // per amount: the number of low bits that the digest leaves out
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

// span sets the least and the largest value that amount k has in any list. Call it for every k before of.
func (d *digester) span(k int, least, most int64) {
	d.least[k] = least
	d.shift[k] = max(0, bits.Len64(uint64(max(0, most-least)))-(d.width-1))
}

// of returns the digest of a list of amounts. If each amount of one list is at most that of another, so are the parts
// of their digests. Amounts below the least of span count as the least.
func (d *digester) of(list []int64) (digest uint64) {
	place, least, shift := 0, d.least[:len(list)], d.shift[:len(list)]
	for k, amount := range list {
		digest |= uint64(max(0, amount-least[k])) >> (shift[k] & 63) << (place & 63)
		place += d.width
	}
	return digest
}

// next returns the first index, at or after from, of a digest whose list may be at most that of digest other in each
// amount. The lists of the digests before surely are not. next returns -1 if there is none.
func (d *digester) next(digests []uint64, from int, other uint64) int {
	above := d.above
	other |= above
	i := from
	for ; i+4 <= len(digests); i += 4 { // four at a time: there are many digests, and few pass
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
