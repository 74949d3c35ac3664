# SPDX-License-Identifier: Apache-2.0
lodestone_add_mpi_tests(through_physics LABEL mpi PREFIX mpi RANKS 1 2 SOURCES test_through_physics.cpp LINKS lodestone::engine lodestone::physics)
lodestone_add_mpi_tests(compiled_ranks LABEL mpi PREFIX mpi RANKS 1 2 SOURCES test_compiled_ranks.cpp LINKS lodestone::engine)
lodestone_add_mpi_tests(mpi_world LABEL mpi PREFIX mpi RANKS 1 2 3 4 SOURCES test_mpi_world.cpp LINKS lodestone::dist)
lodestone_add_mpi_tests(pipeline LABEL mpi PREFIX mpi RANKS 1 2 4 SOURCES test_pipeline_mpi.cpp LINKS lodestone::dist)
lodestone_add_mpi_tests(training LABEL mpi PREFIX mpi RANKS 1 2 3 4 8 SOURCES test_training_mpi.cpp LINKS lodestone::dist)
