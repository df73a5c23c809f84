import type { aGateway } from './fakes.ts'

/** Calls the API of a gateway with its key. `more` adds headers. */
export const calling =
  ({ app, headers }: Pick<ReturnType<typeof aGateway>, 'app' | 'headers'>) =>
  async (method: string, url: string, body?: unknown, more: Record<string, string> = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url: `/v1${url}`,
      headers: { ...headers, ...more },
      ...(body === undefined ? {} : { payload: body as object }),
    })
    return { status: response.statusCode, headers: response.headers, body: response.body === '' ? undefined : response.json() }
  }
