package roll_test
