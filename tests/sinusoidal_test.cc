#include "posgauge/properties/sinusoidal.h"
