import { z } from 'zod'
import { KeyChanged, KeyFound, KeyList, KeyRecord, KeyWithText } from '../../translate/keys/key-record.ts'
import { name } from './naming.ts'

name('ApiKey', KeyRecord)

// A replay of a creation has no text to show: it is kept nowhere.
const CreatedKey = KeyWithText.partial({ key: true }).describe(
  'An API key with its text, shown now and never again; not in a replayed response.',
)

export const ApiKeyCreated = name('ApiKeyCreated', z.object({ message: z.string(), data: CreatedKey }).describe('A key was made.'))
export const ApiKeyRotated = name('ApiKeyRotated', z.object({ message: z.string(), data: KeyWithText }).describe('A key has a new text.'))
export const ApiKeyChanged = name('ApiKeyChanged', KeyChanged.describe('A key was changed.'))
export const ApiKeyFound = name('ApiKeyFound', KeyFound.describe('One key.'))
export const ApiKeyList = name('ApiKeyList', KeyList.describe('A page of keys, oldest first.'))
