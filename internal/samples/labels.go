package samples

import (
	"fmt"
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// ClassLabels holds the right classes of samples.
type ClassLabels struct {
	class []int32 // run by run, a class per group of scores of the first output; negative: none
	each  int     // number of classes per run
	// number of adjacent scores whose largest one gives the class; 0 if the element itself is the class
	scores int
}

// NewClassLabelsFromArray reads labels of runs, with a label per row of scores of the first output: the index of the
// row's largest element. If the output has integers and there is a label per element, the elements themselves are the
// classes. Negative labels and labels of padding do not count. The error is an *UnfitDataError.
func NewClassLabelsFromArray(a *npy.Array, runs int, out []dataflow.RealTensorInfo) (*ClassLabels, error) {
	shape := dataflow.Shape(out[0].Shape)
	elements, scores := shape.ElementCount(), 1
	if len(shape) > 0 {
		scores = shape[len(shape)-1]
	}
	each := len(a.Data) / max(1, runs)
	_, _, integers := out[0].IntegerLimits()
	l := &ClassLabels{scores: scores, each: each}
	switch {
	case each*runs != len(a.Data) || each == 0:
		return nil, &UnfitDataError{Msg: fmt.Sprintf("%d labels for %d samples", len(a.Data), runs),
			Hint: "give an integer for each sample, -1 where it has no label"}
	case integers && each == elements:
		l.scores = 0
	case scores < 2 || each != elements/scores:
		return nil, &UnfitDataError{Msg: fmt.Sprintf("%d labels a sample for an output of shape %v", each, shape),
			Hint: fmt.Sprintf("give %d a sample: the place of the largest element along the last axis",
				elements/max(1, scores))}
	}
	if slices.Max(a.Data) < 0 {
		return nil, &UnfitDataError{Msg: "no sample has a label: all are negative",
			Hint: "give the class of each sample, counted from 0; -1 where there is none"}
	}
	l.class = make([]int32, len(a.Data))
	for i, v := range a.Data {
		if v != math.Trunc(v) || l.scores > 0 && v >= float64(scores) || math.Abs(v) >= 1<<31 {
			return nil, &UnfitDataError{Msg: fmt.Sprintf("label %d is %v, not a class", i, v),
				Hint: "labels are integers, counted from 0; -1 where a sample has none"}
		}
		l.class[i] = int32(v)
	}
	return l, nil
}

// MeasureAccuracy returns the accuracy of all runs. runs holds their outputs.
func (l *ClassLabels) MeasureAccuracy(runs [][]dataflow.RealTensor) Accuracy {
	return NewAccuracy(l.CountRightAndLabelled(0, runs))
}

// CountRightAndLabelled counts the labelled classes of runs, and those that the outputs get right. first is the number
// of the first run. Of equally large elements, the first one gives the class.
func (l *ClassLabels) CountRightAndLabelled(first int, runs [][]dataflow.RealTensor) (right, n int) {
	for i, out := range runs {
		data := out[0].Data
		for k, class := range l.class[(first+i)*l.each : (first+i+1)*l.each] {
			if class < 0 || (k+1)*max(1, l.scores) > len(data) {
				continue
			}
			if n++; l.of(data, k) == int(class) {
				right++
			}
		}
	}
	return right, n
}

// of returns the class that an output gives for label k of a run: the index of the largest score of row k, or element k
// itself.
func (l *ClassLabels) of(data []float64, k int) int {
	if l.scores == 0 {
		return int(data[k])
	}
	list := data[k*l.scores : (k+1)*l.scores]
	at := 0
	for i, v := range list {
		if v > list[at] {
			at = i
		}
	}
	return at
}

// An Accuracy is the share of labelled samples that a model gets right, with its confidence interval.
type Accuracy struct {
	Right   int `json:"right"`
	Samples int `json:"samples"`
	// the 95 % interval (Wilson's score interval) of the share among all samples of this kind
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// quantile is the number that a standard normal variable exceeds with a probability of 2.5 %.
const quantile = 1.959963984540054

// NewAccuracy returns the accuracy of right out of n samples, with Wilson's score interval. The interval holds the
// shares p whose distance from the observed share is at most 1.96 standard deviations of p. See E. B. Wilson, Probable
// inference, the law of succession, and statistical inference, 1927. For n = 0 the interval is 0 to 1.
func NewAccuracy(right, n int) Accuracy {
	a := Accuracy{Right: right, Samples: n, High: 1}
	if n == 0 {
		return a
	}
	p, m, z2 := a.ShareRight(), float64(n), quantile*quantile
	middle := (p + z2/(2*m)) / (1 + z2/m)
	half := quantile / (1 + z2/m) * math.Sqrt(p*(1-p)/m+z2/(4*m*m))
	a.Low, a.High = max(0, middle-half), min(1, middle+half)
	if right == 0 {
		a.Low = 0 // exact instead of rounded
	}
	if right == n {
		a.High = 1
	}
	return a
}

// ShareRight returns the share of right samples, from 0 to 1.
func (a Accuracy) ShareRight() float64 { return float64(a.Right) / float64(max(1, a.Samples)) }

// String formats the accuracy in percent: "96.9 % (124/128; 95 % interval 92.2 to 98.8 %)".
func (a Accuracy) String() string {
	return fmt.Sprintf("%.1f %% (%d/%d; 95 %% interval %.1f to %.1f %%)", 100*a.ShareRight(), a.Right, a.Samples,
		100*a.Low,
		100*a.High)
}
