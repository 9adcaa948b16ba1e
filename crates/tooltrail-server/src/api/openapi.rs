//! The OpenAPI document.
use super::fault::Fault;
use super::question::Question;
use super::reply::Reply;

pub(super) fn document(_: &Question) -> Result<Reply, Fault> {
    Ok(Reply::one(&"soon"))
}
