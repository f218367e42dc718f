#include "posgauge/schemes/axial.h"
