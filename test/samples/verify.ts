// Verifies requests with the TypeScript sample of docs/webhooks.md. Argument: the file of the sample. test/samples/run.ts describes input
// and output.

import { json } from 'node:stream/consumers'

const { isGenuine, isSigned } = await import(process.argv[2] ?? '')
const requests = (await json(process.stdin)) as { secret: string; headers: Record<string, string>; body: string }[]
const verdicts = requests.map(({ secret, headers, body }) => {
  const bytes = Buffer.from(body, 'base64')
  return { isGenuine: isGenuine(bytes, headers, secret), isSigned: isSigned(bytes, headers, secret) }
})
console.log(JSON.stringify(verdicts))
