cluster test
takeoff
