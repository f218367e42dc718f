#include "posgauge/schemes/ntk.h"

#include "posgauge/schemes/base/domain.h"

namespace posgauge::ntk {

void Params::Validate() const {
  rotary.Validate();
  RequireScale("factor", factor, form == Form::dynamic ? 1 : kSmallestScale);
  Require(form == Form::naive || rotary.rotary_dim != 2,
          "rotary_dim must not be 2 in the NTK form {}: its exponent d/(d-2) divides by zero",
          VariantName(form));
  if (form == Form::dynamic) {
    Require(trained_length.has_value(), "trained_length must be given for the dynamic form");
    Require(length.has_value(),
            "length must be given for the dynamic form: its frequencies depend on the current "
            "length in tokens");
    RequireLength("trained_length", *trained_length);
    RequireLength("length", *length, 0);
  } else {
    Require(!trained_length && !length, "trained_length and length belong to the dynamic form, not {}",
            VariantName(form));
  }
}

}  // namespace posgauge::ntk
