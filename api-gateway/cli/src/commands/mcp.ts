import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { requireService } from '../settings/settings.ts'
import { toPrintableJson } from '../terminal/output.ts'
import type { Command, Context } from './context.ts'

// Passes messages of the Model Context Protocol between standard input and output and the service, for clients that cannot send an API key over HTTP.

interface Message {
  id?: string | number | null
  method?: string
  params?: { name?: unknown; uri?: unknown; _meta?: Record<string, unknown> }
  result?: { protocolVersion?: string }
}

/** Where a request of the revision of 2026 says which revision it is. */
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
/** The code of JSON-RPC for errors that a server defines. */
const SERVER_ERROR = -32_000
const MAX_ERROR = 2_000

const failure = ({ id = null }: Message, message: string): object => ({ jsonrpc: '2.0', id, error: { code: SERVER_ERROR, message } })

/** The messages of a response: one in JSON, or several as events. */
function readMessages(contentType: string, text: string): Message[] {
  if (!contentType.startsWith('text/event-stream')) return text === '' ? [] : [JSON.parse(text) as Message].flat()
  const data = text.split('\n').filter((line) => line.startsWith('data:'))
  return data.map((line) => line.slice('data:'.length).trim()).flatMap((json) => (json === '' ? [] : [JSON.parse(json) as Message]))
}

/** The message of an error response, of the service or of a proxy before it. */
function errorOf(status: number, text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } }
    if (error?.message) return `${error.message} (status ${status})`
  } catch {
    // A page of a proxy.
  }
  return `the service responded with status ${status}: ${text.slice(0, MAX_ERROR)}`
}

class Bridge {
  readonly #url: string
  readonly #apiKey: string
  readonly #signal: AbortSignal
  /** The revision that `initialize` agreed on, for clients of earlier revisions. */
  #version: string | undefined

  constructor({ settings, world }: Context) {
    const { url, apiKey } = requireService(settings)
    this.#url = `${url.replace(/\/+$/, '')}/mcp`
    this.#apiKey = apiKey
    this.#signal = world.signal
  }

  /** Headers that repeat what the message says, as the protocol requires over HTTP. */
  #headersOf({ method, params }: Message): Record<string, string> {
    const own = params?._meta?.[VERSION_KEY]
    const version = typeof own === 'string' ? own : this.#version
    const named = method === 'resources/read' ? params?.uri : params?.name
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${this.#apiKey}`,
      ...(version && { 'mcp-protocol-version': version }),
      ...(typeof own === 'string' && method !== undefined && { 'mcp-method': method }),
      ...(typeof own === 'string' && typeof named === 'string' && { 'mcp-name': named }),
    }
  }

  /** Resolves to the responses to a message. Failures are responses, too. */
  async send(line: string): Promise<object[]> {
    let message: Message = {}
    try {
      message = JSON.parse(line) as Message
      const response = await fetch(this.#url, { method: 'POST', headers: this.#headersOf(message), body: line, signal: this.#signal })
      const text = await response.text()
      const contentType = response.headers.get('content-type') ?? ''
      const isMessage = text.includes('"jsonrpc"')
      if (!response.ok && !isMessage) return message.id === undefined ? [] : [failure(message, errorOf(response.status, text))]
      const messages = readMessages(contentType, text)
      this.#version = messages.find(({ result }) => result?.protocolVersion)?.result?.protocolVersion ?? this.#version
      return messages
    } catch (error) {
      const { message: text, cause } = error as Error
      return [failure(message, cause instanceof Error ? `${text}: ${cause.message}` : text)]
    }
  }
}

async function run(context: Context): Promise<undefined> {
  const bridge = new Bridge(context)
  const { stdin, stdout } = context.world
  const pending = new Set<Promise<void>>()
  for await (const line of createInterface({ input: Readable.from(stdin) })) {
    if (line.trim() === '') continue
    const sent = bridge.send(line).then((messages) => {
      for (const message of messages) stdout.write(`${toPrintableJson(message)}\n`)
      pending.delete(sent)
    })
    pending.add(sent)
    // Later messages name the revision that this one agrees on.
    if (line.includes('"initialize"')) await sent
  }
  await Promise.all(pending)
}

export const mcp: Command = {
  name: 'mcp',
  summary: 'Connects an agent that starts programs to the MCP endpoint of the service',
  notes: [
    '  {"command": "tintype", "args": ["mcp"]}    in the configuration of the agent',
    '',
    'Reads and writes messages of the Model Context Protocol. The service has the',
    'same endpoint at /mcp, for agents that connect over HTTP.',
  ],
  run,
}
