module posgauge.example/golden

go 1.21
