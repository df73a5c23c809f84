// Verifies the signatures of a delivery with independent code: the libraries of Standard Webhooks for Node and Python, and openssl for the header
// X-Webhook-Signature. The input is the received request.

import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { run } from '../../cluster/host/exec.ts'
import { locatePythonTools } from '../../fuzz/python-tools.ts'
import type { ReceivedRequest } from './https-receiver.ts'

/** Verifies with npm's `standardwebhooks`; resolves to the event's id. @throws when the signature, the body or the time is wrong */
export async function verifyByNpm(secret: string, { headers, body }: ReceivedRequest): Promise<string> {
  return (new Webhook(secret).verify(body, headers) as { id: string }).id
}

/** Verifies with PyPI's `standardwebhooks`; resolves to the event's id. @throws when the signature, the body or the time is wrong */
export async function verifyByPython(secret: string, { headers, body }: ReceivedRequest): Promise<string> {
  const python = join(await locatePythonTools(), 'python')
  const input = JSON.stringify({ secret, headers, body: body.toString('base64') })
  return (await run(python, [join(import.meta.dirname, 'verify-standard.py')], { input })).trim()
}

/** HMAC-SHA256 of a body as openssl computes it, in hexadecimal, keyed with the text of the secret. */
export async function hmacByOpenssl(secret: string, body: Buffer): Promise<string> {
  const key = `hexkey:${Buffer.from(secret, 'utf8').toString('hex')}`
  return (await run('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', key, '-r'], { input: body })).split(' ')[0] ?? ''
}
