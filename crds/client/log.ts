/** The logger interface of the client and the controllers, as in pino, with fields first. */
export type Log = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const nothing = () => {}

/** A logger that discards everything. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
