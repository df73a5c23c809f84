/** Options of the record and its files by their REST name. They are fields of a Screenshot's spec, and of a request, beside the capture options. */
export const RECORD_OPTIONS = {
  external_identifier: 'externalIdentifier',
  attachment_name: 'attachmentName',
  download_url_ttl: 'downloadUrlTtlSeconds',
  retention_days: 'retentionDays',
  webhook_url: 'webhookUrl',
  webhook_events: 'webhookEvents',
} as const

export type RecordOptionName = keyof typeof RECORD_OPTIONS
/** Name of the field of the spec. */
export type RecordField = (typeof RECORD_OPTIONS)[RecordOptionName]
