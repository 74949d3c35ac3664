# SPDX-License-Identifier: Apache-2.0
lodestone_add_mpi_tests(simulation_2d LABEL mpi PREFIX mpi RANKS 1 2 3 SOURCES test_simulation_2d.cpp LINKS lodestone::physics)
lodestone_add_mpi_tests(simulation_3d LABEL mpi PREFIX mpi RANKS 1 2 3 4 SOURCES test_simulation_3d.cpp LINKS lodestone::physics)
