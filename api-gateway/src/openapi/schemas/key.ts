import { z } from 'zod'
import { KeyChanged, KeyFound, KeyList, KeyRecord, KeyWithText } from '../../translate/keys/key-record.ts'
import { name } from './naming.ts'

name('ApiKey', KeyRecord)

// The text is not stored, so a replayed response does not contain it.
const CreatedKey = KeyWithText.partial({ key: true }).describe(
  'An API key with its text. Only the first response contains the text, a replayed response does not.',
)

export const ApiKeyCreated = name('ApiKeyCreated', z.object({ message: z.string(), data: CreatedKey }).describe('The created key.'))
export const ApiKeyRotated = name('ApiKeyRotated', z.object({ message: z.string(), data: KeyWithText }).describe('The rotated key.'))
export const ApiKeyChanged = name('ApiKeyChanged', KeyChanged.describe('The updated key.'))
export const ApiKeyFound = name('ApiKeyFound', KeyFound.describe('One key.'))
export const ApiKeyList = name('ApiKeyList', KeyList.describe('One page of keys, oldest first.'))
