#include "posgauge/schemes/mrope.h"
