# CMake reads this file while it configures llama.cpp, since only CMake knows which compiler it has chosen.
#
# gcc before 13 believes that loading a tile configuration reads 8 of its 64 bytes, so it drops what llama.cpp writes to
# the others. Code for a processor with AMX then crashes at the first prompt, or answers nonsense. With -fno-dse gcc keeps
# these stores, and AMX stays on.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS -march=native)
    check_cxx_source_compiles("#ifndef __AMX_TILE__\n#error none\n#endif\nint main() {}" DECODESCOPE_AMX_TILE)
    unset(CMAKE_REQUIRED_FLAGS)
    if(DECODESCOPE_AMX_TILE)
        add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-dse>)
    endif()
endif()
