import type { ComponentChildren } from 'preact'
import { type Capture, describeFailure, RequestError } from '../api/client.ts'
import { toSentence } from '../form/fields.ts'
import { STATUS_TITLES } from '../format/text.ts'

/** A message that is announced when it appears. */
export function Note({ kind = 'info', children }: { kind?: 'info' | 'warning' | 'error' | 'good'; children: ComponentChildren }) {
  return (
    <div class={`note ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** Why a capture failed, and its warnings. */
export const CaptureNotes = ({ shot: { error, warnings } }: { shot: Capture }) => (
  <>
    {error ? <Note kind="error">{describeFailure(error)}</Note> : null}
    <Warnings texts={warnings} />
  </>
)

/** An error, with the problems that the API lists and the id for administrators. Nothing without an error. */
export function ErrorNote({ error }: { error: unknown }) {
  if (!error) return null
  const { message } = error instanceof Error ? error : new Error(String(error))
  const { problems, requestId } = error instanceof RequestError ? error : { problems: [], requestId: undefined }
  return (
    <Note kind="error">
      <p>{toSentence(message)}</p>
      {problems.length > 1 ? (
        <ul>
          {problems.map(({ path, message: text }) => (
            <li key={path + text}>{toSentence(text)}</li>
          ))}
        </ul>
      ) : null}
      {requestId ? <p class="small">Request {requestId}</p> : null}
    </Note>
  )
}

/** Shown in place of data that is not there: it is being read, or cannot be read. */
export const Missing = ({ error }: { error: unknown }) => (error ? <ErrorNote error={error} /> : <p class="empty">Loading…</p>)

/** What a capture or a request reports without failing. */
export function Warnings({ texts }: { texts: readonly string[] }) {
  return texts.length === 0 ? null : (
    <Note kind="warning">
      <ul>
        {texts.map((text) => (
          <li key={text}>{toSentence(text)}</li>
        ))}
      </ul>
    </Note>
  )
}

/** The HTTP status of a page that responded with an error. Its capture is completed, because the picture may be wanted. */
export function PageStatus({ capture }: { capture: Pick<Capture, 'metadata'> }) {
  const status = capture.metadata?.http_status ?? 0
  return status < 400 ? null : <span class="badge pending">{`HTTP ${status}`}</span>
}

/** Whether a page has changed since the picture that it was compared with. */
export const ChangeBadge = ({ changed }: { changed: boolean | null }) => (
  <span class={`badge ${changed ? 'changed' : 'same'}`}>{changed ? 'Changed' : 'Not changed'}</span>
)

/** The state of a screenshot or a delivery, as text with a color. */
export const StatusBadge = ({ status }: { status: string }) => <span class={`badge ${status}`}>{STATUS_TITLES[status] ?? status}</span>
