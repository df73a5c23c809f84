import { Turns } from './turns.ts'

/** Reads of large objects at the same time. The text of one, and the object, have several megabytes. */
const turns = new Turns(4)

/** Reads an object with the options that the cache leaves out. Few are read at a time, so that they do not fill the process. */
export async function readInTurn<T>(account: string, read: () => Promise<T>): Promise<T> {
  const end = await turns.take(account)
  try {
    return await read()
  } finally {
    end()
  }
}
