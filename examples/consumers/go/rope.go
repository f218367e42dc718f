// Package golden holds rotary embedding, plain and with interpolated positions, against the golden
// vectors: go test, in this folder; -v shows every case.
package golden

import (
	"math"
	"os"
)

// u is the unit of rounding; math.Sin, Cos, Exp and Log are taken to be within libraryUlps ulps, 2u
// each (the tables in Go's sources give at most 2.1e-16 of the result, 1 ulp). pays pays for products of
// errors.
const (
	u           = 0x1p-53
	libraryUlps = 1
	pays        = 1.01
)

// Blind is the share of a value's size beyond which its bound would let any answer pass.
const Blind = 0.1

// Scheme is what rope and linear have of parameters.
type Scheme struct {
	HeadDim            int `json:"head_dim"`
	RotaryDim          int `json:"rotary_dim"`
	RotaryOffset       int `json:"rotary_offset"`
	Pairing, Direction string
	Base               float64
	Factor             *float64 // of linear
}

// Value is a result, how far it may be from the real number, and the size that this is seen against.
type Value struct{ Value, Bound, Size float64 }

func (s *Scheme) pair(i int) (first, second int) {
	if s.Pairing == "interleaved" {
		return s.RotaryOffset + 2*i, s.RotaryOffset + 2*i + 1
	}
	return s.RotaryOffset + i, s.RotaryOffset + i + s.RotaryDim/2
}

func (s *Scheme) sign() float64 {
	sign := 1.0
	if s.Direction == "clockwise" {
		sign = -1
	}
	if os.Getenv("POSGAUGE_BREAK") != "" { // a mistake to be found
		sign = -sign
	}
	return sign
}

// frequency is base^(-2i/d), divided by linear's factor, negative where the rotation is clockwise, with its
// relative error: the exponent's argument y = (2i/d) ln(base) carries a quotient, a logarithm and a product,
// y times 2 + 2n roundings in all; then the exponential, and the factor's quotient.
func (s *Scheme) frequency(i int) (value, relative float64) {
	y := float64(2*i) / float64(s.RotaryDim) * math.Log(s.Base)
	value, relative = s.sign()*math.Exp(-y), (y*(2+2*libraryUlps)+2*libraryUlps)*u
	if s.Factor != nil {
		value, relative = value / *s.Factor, relative+u
	}
	return value, pays * relative
}

// cosSin are those of position times frequency; off bounds what a wrong angle does to either (slope at
// most 1), and rounding is the relative error of the functions.
func (s *Scheme) cosSin(position float64, i int) (cos, sin, off, rounding float64) {
	frequency, relative := s.frequency(i)
	angle := position * frequency
	cos, sin = math.Cos(angle), math.Sin(angle)
	return cos, sin, pays * math.Abs(angle) * (relative + u), 2 * libraryUlps * u
}

func (s *Scheme) rotate(position, direction float64, x []float64) []Value {
	out := make([]Value, len(x))
	for i, v := range x { // outside the rotation: copied
		out[i] = Value{v, 0, math.Abs(v)}
	}
	for i := 0; i < s.RotaryDim/2; i++ {
		a, b := s.pair(i)
		cos, sin, off, rounding := s.cosSin(position, i)
		sin *= direction
		// A wrong angle moves the pair by its size times what it is off; what rounds cos, sin and products
		// counts |a| |cos| + |b| |sin| <= size, and the sum once more. Fused or not, it is no more.
		size := math.Hypot(x[a], x[b])
		bound := (off + pays*(rounding+2*u)) * size
		if size > 0 {
			bound += 3 * 0x1p-1074
		}
		out[a] = Value{x[a]*cos - x[b]*sin, bound, size}
		out[b] = Value{x[a]*sin + x[b]*cos, bound, size}
	}
	return out
}

// Answers are the outputs of a quantity with what may be wrong with them, nil if it is not computed here.
func (s *Scheme) Answers(quantity string, inputs map[string][]float64) map[string][]Value {
	pairs := s.RotaryDim / 2
	switch quantity {
	case "frequencies":
		values := make([]Value, pairs)
		for i := range values {
			value, relative := s.frequency(i)
			values[i] = Value{value, relative * math.Abs(value), math.Abs(value)}
		}
		return map[string][]Value{"frequencies": values}
	case "table":
		cosines, sines := []Value{}, []Value{}
		for _, position := range inputs["positions"] {
			for i := 0; i < pairs; i++ {
				cos, sin, off, rounding := s.cosSin(position, i)
				cosines = append(cosines, Value{cos, off + rounding, 1})
				sines = append(sines, Value{sin, off + rounding, 1})
			}
		}
		return map[string][]Value{"cos": cosines, "sin": sines}
	case "rotate", "rotate_backward":
		direction := 1.0
		if quantity == "rotate_backward" {
			direction = -1
		}
		x, positions := inputs["x"], inputs["positions"]
		values := []Value{}
		for at := 0; at < len(x); at += s.HeadDim {
			position := positions[at/(len(x)/len(positions))]
			values = append(values, s.rotate(position, direction, x[at:at+s.HeadDim])...)
		}
		return map[string][]Value{"out": values}
	}
	return nil
}
