package golden

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Manifest is what these tests need of one.
type Manifest struct {
	Scheme  Scheme
	Payload struct{ File, Sha256 string }
	Cases   []Case
}

// Case is one of a manifest, with its tensors by their name less the case's.
type Case struct {
	ID, Quantity, Result string
	Dtypes               []string
	tensors              map[string][]float64
}

func folder() string {
	if set := os.Getenv("POSGAUGE_GOLDEN"); set != "" {
		return set
	}
	return "../../../golden/vectors"
}

// tensors reads those of F64, F32 and I32 from a safetensors payload.
func tensors(t *testing.T, payload []byte) map[string][]float64 {
	t.Helper()
	start := 8 + binary.LittleEndian.Uint64(payload)
	var header map[string]struct {
		Dtype   string
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(payload[8:start], &header); err != nil {
		t.Fatal(err)
	}
	result := map[string][]float64{}
	for name, tensor := range header {
		data := payload[start+tensor.Offsets[0] : start+tensor.Offsets[1]]
		values := []float64{}
		switch tensor.Dtype {
		case "F64":
			for ; len(data) > 0; data = data[8:] {
				values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(data)))
			}
		case "F32":
			for ; len(data) > 0; data = data[4:] {
				values = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
			}
		case "I32":
			for ; len(data) > 0; data = data[4:] {
				values = append(values, float64(int32(binary.LittleEndian.Uint32(data))))
			}
		default:
			continue
		}
		result[name] = values
	}
	return result
}

func read(t *testing.T, path string) Manifest {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	payload, err := os.ReadFile(filepath.Join(filepath.Dir(path), manifest.Payload.File))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(payload); hex.EncodeToString(sum[:]) != manifest.Payload.Sha256 {
		t.Fatalf("%s: the payload is not the one that the manifest names", path)
	}
	all := tensors(t, payload)
	for i := range manifest.Cases {
		c := &manifest.Cases[i]
		c.tensors = map[string][]float64{}
		for name, values := range all {
			if own := c.ID + "/"; strings.HasPrefix(name, own) {
				c.tensors[name[len(own):]] = values
			}
		}
	}
	return manifest
}

// off is how far a result is from the real number stored + distance 2^-16 ulp, less what that difference
// may be off by itself: half a step of the distance, and its own roundings.
func off(result, stored, distance float64) float64 {
	size := math.Abs(stored)
	step := (math.Nextafter(size, math.Inf(1)) - size) * 0x1p-16
	difference := math.Abs((result - stored) - distance*step)
	return difference - step/2 - 0x1p-52*difference
}

// agrees says whether a result is what the vector has, within the bound. Stored as float32 it may be any
// rounding of what lies within the bound of the real number; rounding is monotone.
func agrees(c *Case, output, dtype string, i int, v Value) bool {
	stored, distance := c.tensors[output+".f64"][i], c.tensors[output+".f64.distance"][i]
	switch {
	case math.IsNaN(stored): // an infinity or a NaN of the input spoils its pair
		return math.IsNaN(v.Value) || math.IsInf(v.Value, 0)
	case math.IsInf(stored, 0):
		return v.Value == stored
	case dtype == "f64":
		return off(v.Value, stored, distance) <= v.Bound
	}
	reach := v.Bound + math.Abs(stored)*0x1p-52 + 0x1p-1074
	result := float32(v.Value)
	return float32(stored-reach) <= result && result <= float32(stored+reach)
}

func check(t *testing.T, name, dtype string, c *Case, s *Scheme) {
	answers := s.Answers(c.Quantity, c.tensors)
	count, wrong, blind := 0, 0, 0
	for output, values := range answers {
		if len(values) != len(c.tensors[output+".f64"]) {
			t.Fatalf("%s: %s has %d elements, not %d", name, output, len(c.tensors[output+".f64"]), len(values))
		}
		for i, v := range values {
			if v.Bound > v.Size*Blind {
				blind++
				continue
			}
			count++
			if agrees(c, output, dtype, i, v) {
				continue
			}
			if wrong++; wrong == 1 && c.Result == "valid" {
				position := math.NaN()
				if positions := c.tensors["positions"]; positions != nil {
					position = positions[i/(len(values)/len(positions))]
				}
				t.Errorf("%s: %s %s, index %d, position %v: got %x, the real number is near %x, at most %.3g is "+
					"this arithmetic's", name, output, dtype, i, position, v.Value, c.tensors[output+".f64"][i], v.Bound)
			}
		}
	}
	if c.Result == "invalid" && wrong == 0 {
		t.Errorf("%s: agrees with an answer that is wrong on purpose", name)
	}
	if count == 0 {
		t.Skip("blind: no bound is below a tenth of its value")
	}
	t.Logf("%d values, %d wrong, %d more blind", count, wrong, blind)
}

func TestGolden(t *testing.T) {
	for _, scheme := range []string{"rope", "linear"} {
		paths, err := filepath.Glob(filepath.Join(folder(), scheme, "*.json"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no manifests in %s", filepath.Join(folder(), scheme))
		}
		for _, path := range paths {
			manifest := read(t, path)
			for i := range manifest.Cases {
				c := &manifest.Cases[i]
				for _, dtype := range c.Dtypes {
					// Wrong answers are to be refused in f64; fewer digits may hide what is wrong with them.
					if dtype != "f64" && (dtype != "f32" || c.Result == "invalid") {
						continue
					}
					name := scheme + "/" + strings.TrimSuffix(filepath.Base(path), ".json") + "/" + c.ID
					t.Run(name+"/"+dtype, func(t *testing.T) {
						if c.Result == "acceptable" {
							t.Skip("of a named dialect")
						}
						if manifest.Scheme.Answers(c.Quantity, c.tensors) == nil {
							t.Skip("not computed here: " + c.Quantity)
						}
						check(t, name, dtype, c, &manifest.Scheme)
					})
				}
			}
		}
	}
}
