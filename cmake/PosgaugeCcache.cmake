# Compiles through ccache where it is installed. Paths below the source folder are cached relative to
# it, so that a fresh clone, or the copy in which a test adds a scheme, compiles from the cache.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(POSGAUGE_CCACHE ccache)
  if(POSGAUGE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros
        ${POSGAUGE_CCACHE})
  endif()
endif()
