// Generated from the OpenAPI document of the gateway by `npm run generate`. Do not edit.

/** Fields of requests that the API expects beside `options`. */
export const REQUEST_FIELDS: readonly string[] = ["url","external_identifier","attachment_name","download_url_ttl","retention_days","webhook_url","webhook_events","urls","name","schedule","time_zone","suspend","concurrency_policy","starting_deadline_seconds","spread_seconds","comparison"]
