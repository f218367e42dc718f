module posgauge.example/golden

go 1.18
