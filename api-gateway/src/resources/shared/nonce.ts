import { randomBytes } from 'node:crypto'

/** Identifies a request to the operator. */
export const newNonce = (): string => randomBytes(10).toString('hex')
