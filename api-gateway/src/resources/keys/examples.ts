// Examples of keys. A test checks them against the schemas.

const createdAt = '2026-11-21T10:00:00.000Z'
const pagination = { limit: 100, offset: 0, total: 1, has_more: false }

export const keyId = 'key_01kajq2v0vtz8m3c5x7r9w4n6p'

const key = {
  id: keyId,
  name: 'deploy pipeline',
  key_prefix: 'ttk_',
  last_four: '9fKd',
  scopes: ['screenshots:read', 'screenshots:write'],
  is_active: true,
  created_at: createdAt,
  updated_at: createdAt,
  expires_at: '2027-11-21T10:00:00.000Z',
  last_used_at: null,
  previous_key_expires_at: null,
}

/** Has the length of a key but is not a valid one. */
const text = 'ttk_EXAMPLEexampleEXAMPLEexampleEX9fKd'

export const keyCreated = { message: 'API key created successfully', data: { ...key, key: text } }
export const keyRotated = {
  message: 'API key rotated successfully',
  data: { ...key, previous_key_expires_at: '2026-11-22T10:00:00.000Z', key: text },
}
export const keyChanged = { message: 'API key updated successfully', data: { ...key, name: 'old pipeline', is_active: false } }
export const keyFound = { success: true, data: key }
export const keyList = { success: true, data: [key], pagination }
