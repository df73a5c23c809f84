/** An external problem that a retry may solve: the work queue retries with backoff. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError'
}

/** A retry cannot help: the key is dropped until its object changes. `reason` is a condition reason in PascalCase. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
