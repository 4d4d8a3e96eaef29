package background

// RetryPauses is the retry schedule, for its test.
var RetryPauses = retryPauses
