/** Something outside is not as it should be, and trying again may help: the work queue backs off and repeats. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError'
}

/** Trying again cannot help: the key is dropped until its object changes. `reason` is a condition's reason, in PascalCase. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
