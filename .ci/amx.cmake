# Read by CMake when llama.cpp is configured, since it alone knows which compiler it has chosen.
#
# gcc before 13 believes that loading a tile configuration reads 8 of its 64 bytes, so it drops what llama.cpp has written
# to the others. Code for a processor with AMX then crashes at the first prompt, or answers nonsense. The stores stay where
# gcc does not look for dead ones; AMX stays on.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS -march=native)
    check_cxx_source_compiles("#ifndef __AMX_TILE__\n#error none\n#endif\nint main() {}" DECODESCOPE_AMX_TILE)
    unset(CMAKE_REQUIRED_FLAGS)
    if(DECODESCOPE_AMX_TILE)
        add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-dse>)
    endif()
endif()
