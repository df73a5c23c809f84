import type { Dispatcher } from 'undici'

// Fencing: a leader that was frozen may resume after another one took over. So its clients ask before the first byte of each write, and not only
// before each call: a call may repeat its request, and a request may wait for a connection.

/** Whether the program may still write. It reads a clock at each call. */
export type MayWrite = () => boolean

/** A write was not sent, because this program is no longer the leader. */
export class FencedError extends Error {
  override readonly name = 'FencedError'

  constructor() {
    super('not the leader any more, so nothing was written')
  }
}

/** @throws FencedError once `mayWrite` returns false */
export function assertMayWrite(mayWrite: MayWrite): void {
  if (!mayWrite()) throw new FencedError()
}

/** Whether an error, or its cause, is a refused write. */
export const isFenced = (error: unknown): boolean =>
  error instanceof FencedError || (error instanceof Error && error.cause instanceof FencedError)

/** Makes a dispatcher refuse requests with a FencedError once `mayWrite` returns false. */
export const fence =
  (mayWrite: MayWrite): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      // undici calls it when the request has its connection, immediately before it writes.
      onRequestStart(controller, context) {
        assertMayWrite(mayWrite)
        handler.onRequestStart?.(controller, context)
      },
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    })
